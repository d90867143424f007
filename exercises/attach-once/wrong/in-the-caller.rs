// SOLUTION call
            let _ = &self.jobs;
            function.call0(py)
// END
