// SOLUTION include
#include <mutex>
// END
// SOLUTION state
std::mutex mutex;
long tickets = 0;
// END
// SOLUTION take
    if (tickets < 0) return nullptr;
    Detach detached_while_it_waits;
    std::unique_lock lock(mutex);
    long mine = ++tickets;
    lock.unlock();
    Attach attached;
    return PyLong_FromLong(mine);
// END
