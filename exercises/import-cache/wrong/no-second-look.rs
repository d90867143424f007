// SOLUTION make
            let _making = self.making.lock_py_attached(py).unwrap();
            let address = import(py, &self.name)?.into_ptr() as usize;
            self.value.set(address);
            Ok(address)
// END
