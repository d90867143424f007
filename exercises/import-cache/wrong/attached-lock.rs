// SOLUTION make
            let _making = self.making.lock().unwrap();
            if let Some(kept) = self.value.get() {
                return Ok(kept);
            }
            let address = import(py, &self.name)?.into_ptr() as usize;
            self.value.set(address);
            Ok(address)
// END
