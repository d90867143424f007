//! How the lesson's functions meet the engine: each variant as an [`engine::ScalarFunction`].

use std::any::Any;
use std::error::Error as StdError;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use engine::{Call, ScalarFunction, Type};

use crate::after::{BatchUdf, Block, KeptState, ScalarUdf, Signature};
use crate::before::naive::NaiveUdf;
use crate::before::pooled::PooledUdf;
use crate::before::{ChildError, Source};

type Failure = Box<dyn StdError + Send + Sync>;

fn type_of(kind: &DataType) -> Type {
    Type::of(kind).expect("every type of a declaration is one of the engine's").0
}

fn types_of(kinds: &[DataType]) -> Vec<Type> {
    kinds.iter().map(type_of).collect()
}

/// What every function has to say of itself.
trait Declaration {
    fn name(&self) -> &str;
    fn parameters(&self, count: usize) -> Result<Vec<Type>, String>;
    fn returns(&self) -> Type;
}

impl Declaration for Signature {
    fn name(&self) -> &str {
        &self.name
    }
    fn parameters(&self, count: usize) -> Result<Vec<Type>, String> {
        self.types(count).map(|kinds| types_of(&kinds))
    }
    fn returns(&self) -> Type {
        type_of(&self.returns)
    }
}

impl Declaration for Source {
    fn name(&self) -> &str {
        &self.name
    }
    fn parameters(&self, count: usize) -> Result<Vec<Type>, String> {
        let takes = self.parameters.len();
        if count != takes {
            return Err(format!("{} takes {takes} arguments and got {count}", self.name));
        }
        Ok(types_of(&self.parameters))
    }
    fn returns(&self) -> Type {
        type_of(&self.returns)
    }
}

macro_rules! declared_by {
    ($field:ident) => {
        fn name(&self) -> &str {
            Declaration::name(&self.$field)
        }
        fn parameters(&self, count: usize) -> Result<Vec<Type>, String> {
            Declaration::parameters(&self.$field, count)
        }
        fn returns(&self) -> Type {
            Declaration::returns(&self.$field)
        }
    };
}

impl ScalarFunction for ScalarUdf {
    declared_by!(signature);
    fn enter_thread(&self) -> Box<dyn Any> {
        Box::new(KeptState::new())
    }
    fn call(&self, arguments: &[ArrayRef], call: &Call<'_>) -> Result<ArrayRef, Failure> {
        let block = Block { rows: call.rows(), row_number: &|row| call.row_number(row) };
        let stop = call.stop();
        Ok(self.call_block(arguments, &block, move || stop.requested())?)
    }
}

impl ScalarFunction for BatchUdf {
    declared_by!(signature);
    fn enter_thread(&self) -> Box<dyn Any> {
        Box::new(KeptState::new())
    }
    fn call(&self, arguments: &[ArrayRef], call: &Call<'_>) -> Result<ArrayRef, Failure> {
        let block = Block { rows: call.rows(), row_number: &|row| call.row_number(row) };
        Ok(self.call_block(arguments, &block)?)
    }
}

/// The out-of-process variants speak of themselves as the old engine did: the function, then why.
fn failed(source: &Source, error: ChildError) -> Failure {
    let named = error.0.starts_with(&format!("{}: ", source.name));
    if named { error.into() } else { ChildError(format!("{}: {}", source.name, error.0)).into() }
}

impl ScalarFunction for NaiveUdf {
    declared_by!(source);
    fn call(&self, arguments: &[ArrayRef], call: &Call<'_>) -> Result<ArrayRef, Failure> {
        self.call_block(arguments, call.rows(), &|| call.stopped())
            .map_err(|error| failed(&self.source, error))
    }
}

impl ScalarFunction for PooledUdf {
    declared_by!(source);
    fn call(&self, arguments: &[ArrayRef], call: &Call<'_>) -> Result<ArrayRef, Failure> {
        self.call_block(arguments, call.rows(), &|row| call.row_number(row), &|| call.stopped())
            .map_err(|error| failed(&self.source, error))
    }
}
