// SOLUTION add
            use pyo3::sync::MutexExt;
            let mut functions = self.functions.lock_py_attached(factory.py()).unwrap();
            if functions.contains_key(&name) {
                return Ok(false);
            }
            functions.insert(name, factory.call0()?.unbind());
            Ok(true)
// END
