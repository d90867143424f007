// SOLUTION answer
        let version: String = py.import("sys")?.getattr("version")?.extract()?;
        Ok(!version.contains("free-threading"))
// END
