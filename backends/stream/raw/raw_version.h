// raw_version.h - which version of Kymo made a raw file (raw_file.h).
//
//   WriteRawVersion(fd)      // "Kymo 0.1.0", with this version's number
//   ReadRawVersion(fd)       // "0.1.0"
//
// The text stands at the end of the file's first page, whatever the layout of
// the arena before it is. So a Kymo that cannot read the file can say which
// version can.
//
// Errors: writing: false, with errno. Reading: empty for a file without a
//         version, such as one from before the text was added.
#ifndef KYMO_BACKENDS_STREAM_RAW_RAW_VERSION_H_
#define KYMO_BACKENDS_STREAM_RAW_RAW_VERSION_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace kymo::stream {

inline constexpr size_t kRawVersionBytes = 32;  // filled up with zeros
inline constexpr uint64_t kRawVersionAt = 4096 - kRawVersionBytes;

[[nodiscard]] bool WriteRawVersion(int fd);
std::string ReadRawVersion(int fd);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_RAW_VERSION_H_
