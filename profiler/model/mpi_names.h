// mpi_names.h - what the name of a call of MPI says of it.
//
//   if (model::OnlyBegins("MPI_Irecv")) ...   // MPI_Wait completes it
//
// Calls are named as in C, in ranges and in requests (backends/mpi).
#ifndef KYMO_PROFILER_MODEL_MPI_NAMES_H_
#define KYMO_PROFILER_MODEL_MPI_NAMES_H_

#include <cstdint>
#include <string_view>

namespace kymo::model {

// Whether the call begins an operation, or makes a request that MPI_Start
// begins. The operation itself is a request.
inline bool OnlyBegins(std::string_view name) {
  if (name.starts_with("MPI_Init") || name.starts_with("MPI_Intercomm")) {
    return false;
  }
  return name.starts_with("MPI_I") || name.starts_with("MPI_File_i") ||
         name.ends_with("_init");
}

// Whether the call looks for a message: MPI_Probe and its like.
inline bool IsProbe(std::string_view name) {
  return name.find("robe") != name.npos;
}

// Whether the message that the call finds can from then on be received by its
// number alone.
inline bool IsMatchedProbe(std::string_view name) {
  return name == "MPI_Mprobe" || name == "MPI_Improbe";
}

// Whether the call or the request is about messages, or about none because its
// partner was MPI_PROC_NULL.
inline bool IsPointToPoint(std::string_view name) {
  return name.starts_with("MPI_") && !name.starts_with("MPI_File_") &&
         (name.find("ecv") != name.npos || name.find("end") != name.npos ||
          IsProbe(name));
}

// Whether the call or the request stands for the messages that it names. `from`
// is the sender, below 0 if it has none: a receive that failed with a message
// had one that was too long.
inline bool StandsForMessages(std::string_view name, bool is_request,
                              bool has_failed, int64_t from) {
  if (!is_request && (OnlyBegins(name) || IsProbe(name))) return false;
  return !has_failed || from >= 0;
}

// Messages with different numbers never belong together. Those of
// MPI_Psend_init belong to MPI_Precv_init alone, though they have tags, too.
inline int64_t LaneOfTag(std::string_view name, int64_t tag) {
  const bool is_partitioned =
      name == "MPI_Psend_init" || name == "MPI_Precv_init";
  return is_partitioned && tag >= 0 ? tag + (int64_t{1} << 32) : tag;
}

// Whether ranks may leave the call, which all of a communicator make together,
// before the last one has entered: they need the data of some ranks only.
inline bool MayEndEarly(std::string_view name) {
  return name.find("can") != name.npos || name.find("eighbor") != name.npos ||
         name.starts_with("MPI_File_");
}

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_MPI_NAMES_H_
