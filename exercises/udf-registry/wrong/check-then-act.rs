// SOLUTION add
            if self.has(&name) {
                return Ok(false);
            }
            let made = factory.call0()?.unbind();
            let old = self.functions.lock().unwrap().insert(name, made);
            drop(old);
            Ok(true)
// END
