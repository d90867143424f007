//! A child interpreter and the pipes to it, with a limit on every wait.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child as Process, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::ChildError;

/// How long a child may do nothing before it counts as silent.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Waiting for the child to take more rows.
    pub write: Duration,
    /// Waiting for the child to give more results.
    pub read: Duration,
}

/// A running child. Dropping it kills it by its own handle and reaps it.
pub struct Child {
    process: Process,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: ChildStderr,
    complaints: Vec<u8>,
}

/// At most this much of a child's stderr is kept: the end, where the exception stands.
const KEPT: usize = 8 * 1024;

impl Child {
    pub fn start(command: &mut Command) -> Result<Self, ChildError> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| ChildError(format!("could not start the interpreter: {error}")))?;
        let (stdin, stdout, stderr) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            unreachable!("all three were asked for as pipes");
        };
        let nonblocking = |fd: &dyn std::os::fd::AsFd| {
            fcntl_getfl(fd).and_then(|flags| fcntl_setfl(fd, flags | OFlags::NONBLOCK))
        };
        let all = [nonblocking(&stdin), nonblocking(&stdout), nonblocking(&stderr)];
        let child = Self { process, stdin: Some(stdin), stdout, stderr, complaints: vec![] };
        match all.into_iter().find_map(Result::err) {
            None => Ok(child),
            Some(error) => Err(ChildError(format!("the pipes to the child: {error}"))),
        }
    }

    /// Sends `input` and reads until `complete` is satisfied with what came; with `last`, the
    /// child's input is closed after it.
    ///
    /// Both directions move at once: a child that answers before it has read everything would
    /// otherwise stand with a full pipe, and we too.
    pub fn exchange(
        &mut self,
        input: &[u8],
        last: bool,
        limits: Limits,
        mut complete: impl FnMut(&[u8]) -> bool,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, ChildError> {
        let (mut sent, mut output, mut moved) = (0, Vec::new(), Instant::now());
        loop {
            if sent == input.len() && last {
                self.stdin = None;
            }
            let writing = sent < input.len();
            if !writing && complete(&output) {
                return Ok(output);
            }
            if stopped() {
                return Err(ChildError("the query was stopped".into()));
            }
            let limit = if writing { limits.write } else { limits.read };
            if moved.elapsed() > limit {
                let what = if writing { "take its rows" } else { "answer" };
                return Err(self.failure(&format!("did not {what} within {limit:?}")));
            }
            let (readable, writable, talking) = self.wait(writing)?;
            if talking {
                self.listen();
            }
            if writable && let Some(stdin) = &mut self.stdin {
                match stdin.write(&input[sent..]) {
                    Ok(count) => {
                        sent += count;
                        moved = Instant::now();
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    // It closed its input: what it says on its output and stderr tells why.
                    Err(_) => {
                        sent = input.len();
                        self.stdin = None;
                    }
                }
            }
            if readable {
                let mut chunk = [0; 64 * 1024];
                match self.stdout.read(&mut chunk) {
                    Ok(0) if last && self.stdin.is_none() => return Ok(output),
                    Ok(0) => return Err(self.failure("ended early")),
                    Ok(count) => {
                        output.extend_from_slice(&chunk[..count]);
                        moved = Instant::now();
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(self.failure(&error.to_string())),
                }
            }
        }
    }

    /// Waits a moment for any pipe: (output readable, input writable, stderr readable).
    fn wait(&self, writing: bool) -> Result<(bool, bool, bool), ChildError> {
        const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        let mut fds = vec![
            PollFd::new(&self.stdout, PollFlags::IN),
            PollFd::new(&self.stderr, PollFlags::IN),
        ];
        if let Some(stdin) = self.stdin.as_ref().filter(|_| writing) {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        match poll(&mut fds, Some(&MOMENT)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ChildError(format!("waiting for the child: {error}"))),
        }
        let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let stderr = fds[1].revents().contains(PollFlags::IN);
        Ok((ready(0), ready(2), stderr))
    }

    fn listen(&mut self) {
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = self.stderr.read(&mut chunk) {
            self.complaints.extend_from_slice(&chunk[..count]);
            let surplus = self.complaints.len().saturating_sub(KEPT);
            self.complaints.drain(..surplus);
        }
    }

    /// Waits for the end of a child whose input is closed, and says how it ended.
    pub fn end(&mut self, limit: Duration) -> Result<(), ChildError> {
        self.stdin = None;
        let until = Instant::now() + limit;
        loop {
            self.listen();
            match self.process.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(self.failure(&format!("ended with {status}"))),
                Ok(None) if Instant::now() > until => {
                    return Err(self.failure(&format!("did not end within {limit:?}")));
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(self.failure(&error.to_string())),
            }
        }
    }

    fn failure(&mut self, what: &str) -> ChildError {
        // A child that has just failed may still be writing its traceback.
        std::thread::sleep(Duration::from_millis(20));
        self.listen();
        let text = String::from_utf8_lossy(&self.complaints);
        let said = text.trim_end();
        if said.is_empty() {
            ChildError(format!("the child {what} and said nothing on stderr"))
        } else {
            ChildError(format!("the child {what}; its stderr ends with:\n{said}"))
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Already ended, or killed now; in both cases it is reaped. Errors mean that it is gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
