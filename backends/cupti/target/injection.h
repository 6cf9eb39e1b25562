// injection.h - names that the collector and the injected library agree on.
//
// When the program initialises CUDA, libcuda loads the library that
// CUDA_INJECTION64_PATH names and calls its InitializeInjection. A program that
// never uses CUDA pays nothing. The library finds its instructions in the
// environment.
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
