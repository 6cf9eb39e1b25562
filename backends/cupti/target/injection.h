// injection.h - how the collector and the injected library agree.
//
// libcuda loads the library that CUDA_INJECTION64_PATH names when the program
// initialises CUDA, and calls its InitializeInjection. A program that never
// does so pays nothing. The library finds what to do in the environment.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_INJECTION_H_
#define KYMO_BACKENDS_CUPTI_TARGET_INJECTION_H_

namespace kymo::cupti {

// Set for libcuda: the path of the injected library, of this name.
inline constexpr char kInjectionVariable[] = "CUDA_INJECTION64_PATH";
inline constexpr char kInjectedFile[] = "libkymo_cuda.so";
// Where the process puts its log.
inline constexpr char kLogFolderVariable[] = "KYMO_CUDA_LOG";
// CaptureFlag bits, bytes of a buffer, ms between flushes: "1:2097152:100".
inline constexpr char kCaptureVariable[] = "KYMO_CUDA_CAPTURE";
// Paths of libcupti, as LoadCupti takes them.
inline constexpr char kLibraryVariable[] = "KYMO_CUPTI";

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_INJECTION_H_
