// SOLUTION add
            let made = factory.call0()?.unbind();
            let mut functions = self.functions.lock().unwrap();
            if functions.contains_key(&name) {
                drop(made);
                return Ok(false);
            }
            functions.insert(name, made);
            Ok(true)
// END
