#include "profiler/api/record_function.h"

#include <pthread.h>
#include <string.h>

#ifndef KYMO_DISABLE

namespace kymo {

void SetThreadName(std::string_view name) noexcept {
  char cut[16] = {};
  memcpy(cut, name.data(), name.size() < 15 ? name.size() : 15);
  pthread_setname_np(pthread_self(), cut);
  record::Host().set_thread_name(name.data(), name.size());
}

}  // namespace kymo

#endif  // KYMO_DISABLE
