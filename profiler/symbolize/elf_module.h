// elf_module.h - one ELF image that a target has mapped, and all of them.
//
// A file is opened when its mapping is seen, through /proc/<pid>/root so that
// containers' paths mean what they mean to the target, and stays open: that it
// is deleted or replaced later costs nothing. A file that is not the one that
// was mapped (another build id; without one, changed since) is not used: its
// frames stay unresolved rather than get wrong names.
//
// Threads: none; a module is used by one thread at a time.
#ifndef KYMO_PROFILER_SYMBOLIZE_ELF_MODULE_H_
#define KYMO_PROFILER_SYMBOLIZE_ELF_MODULE_H_

#include <libelf.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/symbolize/address_space.h"

namespace kymo::symbolize {

// What is known of a mapped file besides its path.
struct FileIdentity {
  std::string path;
  std::string build_id;  // bytes; empty = not told
  uint64_t inode = 0;    // 0 = not told
  TimeNs mapped_ns = 0;  // when; epoch
};

class ElfModule {
 public:
  // Something without an image: "[anon]", "[kernel]", a file that is gone.
  explicit ElfModule(std::string name) : path_(std::move(name)) {}
  // The vdso of this process, which is every process's.
  static std::unique_ptr<ElfModule> Vdso();
  // `pid` mapped the file; without a usable image if it is not found again.
  static std::unique_ptr<ElfModule> File(int64_t pid,
                                         const FileIdentity& identity);
  ElfModule(const ElfModule&) = delete;
  ElfModule& operator=(const ElfModule&) = delete;
  ~ElfModule();

  const std::string& path() const noexcept { return path_; }
  // Last part of the path.
  std::string_view short_name() const noexcept;
  // Null without an image.
  Elf* elf() const noexcept { return elf_; }
  // Bytes; empty if there is none.
  const std::string& build_id() const noexcept { return build_id_; }
  // Whether `address` (relative) is in the image's entry code, which has no
  // caller; the loader's own has no unwind table that says so.
  bool IsEntryCode(uint64_t address) const noexcept {
    return entry_ != 0 && address - entry_ < kEntryBytes;
  }
  // False if the open file was overwritten since.
  bool IsUnchanged() const noexcept;

  // Mapping::delta for the part of the file from `file_offset` at `start`.
  uint64_t Delta(uint64_t start, uint64_t file_offset) const noexcept;

 private:
  struct Segment {
    uint64_t file_offset;
    uint64_t size_bytes;
    uint64_t address;
  };

  static constexpr uint64_t kEntryBytes = 128;

  void ReadImage();
  void CloseImage() noexcept;

  std::string path_;
  std::string build_id_;
  std::vector<char> memory_;  // of the vdso
  int fd_ = -1;
  struct stat opened_ {};
  Elf* elf_ = nullptr;
  uint64_t entry_ = 0;
  std::vector<Segment> segments_;
};

// All modules of a recording, by dense ids.
class ModuleTable {
 public:
  static constexpr ModuleId kKernel = 0;
  // Code outside of any mapping that we know of.
  static constexpr ModuleId kUnknown = 1;

  ModuleTable();

  // Opens the file at its first sight.
  ModuleId File(int64_t pid, const FileIdentity& identity);
  // "[vdso]" or a name in brackets without an image.
  ModuleId Named(const std::string& name);

  ElfModule& module(ModuleId id) const { return *modules_[id]; }
  size_t size() const noexcept { return modules_.size(); }

 private:
  using FileKey = std::tuple<std::string, std::string, uint64_t>;

  std::vector<std::unique_ptr<ElfModule>> modules_;
  std::map<FileKey, ModuleId> files_;
  std::map<std::string, ModuleId> named_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_ELF_MODULE_H_
