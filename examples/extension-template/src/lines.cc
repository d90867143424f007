// Plain C++: called from detached threads, touches no Python object.

#include <algorithm>
#include <cstddef>

extern "C" std::size_t fastlines_count(const char* bytes, std::size_t size) noexcept {
    return static_cast<std::size_t>(std::count(bytes, bytes + size, '\n'));
}
