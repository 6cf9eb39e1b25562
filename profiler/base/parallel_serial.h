// parallel_serial.h - defines KYMO_PARALLEL_SERIAL_ where oneTBB is not used:
// ThreadSanitizer cannot see into the packaged one.
#ifndef KYMO_PROFILER_BASE_PARALLEL_SERIAL_H_
#define KYMO_PROFILER_BASE_PARALLEL_SERIAL_H_

#if defined(__SANITIZE_THREAD__)
#define KYMO_PARALLEL_SERIAL_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KYMO_PARALLEL_SERIAL_ 1
#endif
#endif

#endif  // KYMO_PROFILER_BASE_PARALLEL_SERIAL_H_
