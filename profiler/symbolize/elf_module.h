// elf_module.h - one ELF image that a target has mapped, and a table of them.
//
// A file is opened when its mapping is seen, and stays open: deleting or
// replacing it later does no harm. The path goes through /proc/<pid>/root, so
// that paths in containers mean what they mean to the target. A file that was
// deleted before, as those of programs are when they are upgraded, is opened
// through /proc/<pid>/exe, and for root through map_files. A file is not
// used if it is not the one that was mapped: if it has another build id or,
// without a build id, if it has changed since. Its frames then stay unresolved;
// that is better than wrong names.
//
// Files are of x86-64 or of AArch64, whichever this machine is.
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
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "profiler/base/owned_descriptor.h"
#include "profiler/base/time.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/named_places.h"
#include "profiler/symbolize/stripped/elf_image.h"

namespace kymo::symbolize {

// The identity of a mapped file.
struct FileIdentity {
  std::string path;
  std::string build_id;  // bytes; empty = not known
  uint64_t inode = 0;    // 0 = not known
  TimeNs mapped_ns = 0;  // time since the epoch
  // Where it is mapped now; 0: not known.
  uint64_t begin = 0;
  uint64_t end = 0;
};

class ElfModule {
 public:
  // A module without an image: "[anon]", "[kernel]", or a file that is gone.
  explicit ElfModule(std::string name) : path_(std::move(name)) {}
  // The vdso of this process. All processes have the same one.
  static std::unique_ptr<ElfModule> Vdso();
  // A file that `pid` has mapped; without an image if that file is not found.
  static std::unique_ptr<ElfModule> File(int64_t pid,
                                         const FileIdentity& identity);
  ElfModule(const ElfModule&) = delete;
  ElfModule& operator=(const ElfModule&) = delete;
  ~ElfModule();

  // Memory that no file backs, with code that was made at run time.
  static std::unique_ptr<ElfModule> Memory(std::string name);

  const std::string& path() const noexcept { return path_; }
  bool is_memory() const noexcept { return is_memory_; }
  // What stands for a function in memory without a name: "[anon]", "[heap]".
  // Machines that make code map it from a memfd, to write it at one address and
  // to run it at another.
  std::string FunctionInMemory() const {
    return path_.starts_with("/memfd:") ? "[anon]" : path_;
  }
  // A file of another format, as the image of a Lisp's heap: nothing tells its
  // functions apart.
  bool is_other_format() const noexcept { return is_other_format_; }
  // A file that was replaced or deleted before it could be opened.
  bool is_lost() const noexcept { return is_lost_; }
  // Whether it is this process, and not another one, that has mapped the file.
  bool is_own() const noexcept { return is_own_; }
  // The last part of the path.
  std::string_view short_name() const noexcept;
  // Null without an image.
  Elf* elf() const noexcept { return elf_; }
  ElfImage image() const noexcept { return {elf_, file_.get()}; }
  // Whether it is code of 32-bit x86: its functions have names, but nobody
  // reads the registers and stacks of its threads.
  bool is_386() const noexcept { return is_386_; }
  // Bytes; empty if there is none.
  const std::string& build_id() const noexcept { return build_id_; }
  // Whether `address` (relative to the module) is in the image's entry code,
  // which has no caller. The unwind table of the loader does not say so for its
  // own.
  bool IsEntryCode(uint64_t address) const noexcept {
    return entry_ != 0 && address - entry_ < kEntryBytes;
  }
  // If `address` is in the code of .init or .fini, which has no unwind table:
  // how many bytes of the stack it has taken, with its return address. Else 0.
  uint64_t InitCodeStackBytes(uint64_t address) const noexcept;
  // Bytes of its code. False without an image, or outside of its segments.
  bool ReadCode(uint64_t address, std::span<std::byte> bytes) const noexcept;
  // False if the file was overwritten after it was opened.
  bool IsUnchanged() const noexcept;

  // The value of Mapping::delta for the part of the file that begins at
  // `file_offset` and is mapped at `start`.
  uint64_t Delta(uint64_t start, uint64_t file_offset) const noexcept;

 private:
  struct Segment {
    uint64_t file_offset;
    uint64_t size_bytes;
    uint64_t address;
  };

  static constexpr uint64_t kEntryBytes = 128;
  static constexpr uint64_t kSmallestPage = 4096;
  // AArch64's kernels have pages of 4, 16 or 64 KiB.
  static constexpr uint64_t kLargestPage = 65536;

  bool OpenImage(const std::string& path);
  void OpenDeleted(int64_t pid, const FileIdentity& identity);
  void ReadImage();
  void CloseImage() noexcept;

  std::string path_;
  std::string build_id_;
  bool is_memory_ = false;
  bool is_other_format_ = false;
  bool is_lost_ = false;
  bool is_own_ = false;
  std::vector<char> vdso_;
  OwnedDescriptor file_;
  struct stat opened_ {};
  Elf* elf_ = nullptr;
  bool is_386_ = false;
  uint64_t entry_ = 0;
  uint64_t largest_page_ = kSmallestPage;
  std::vector<Segment> init_code_;
  std::vector<Segment> segments_;
};

// All modules of a recording, by dense ids.
class ModuleTable {
 public:
  static constexpr ModuleId kKernel = 0;
  // Code outside of all known mappings.
  static constexpr ModuleId kUnknown = 1;
  // No code: the callers that a stack lacks. The outermost place of a stack
  // that is cut, at address 0.
  static constexpr ModuleId kTruncated = 2;
  // Code that was made at run time and has a name: an address counts the
  // frames of JitNames.
  static constexpr ModuleId kJit = 3;
  // An interpreter's code. Its addresses are numbers of named_places().
  static constexpr ModuleId kNamed = 4;
  // No code: what is missing in the middle of a stack. At address 0.
  static constexpr ModuleId kCut = 5;

  ModuleTable();

  // The file's module. Opens the file if it is new.
  ModuleId File(int64_t pid, const FileIdentity& identity);
  // The module "[vdso]", or one without an image that has another name in
  // brackets.
  ModuleId Named(const std::string& name);
  // A new module of memory, though another may have its name.
  ModuleId AddMemory(const std::string& name);

  ElfModule& module(ModuleId id) const { return *modules_[id]; }
  NamedPlaces& named_places() noexcept { return named_places_; }
  const NamedPlaces& named_places() const noexcept { return named_places_; }
  size_t size() const noexcept { return modules_.size(); }

 private:
  using FileKey = std::tuple<std::string, std::string, uint64_t>;

  std::vector<std::unique_ptr<ElfModule>> modules_;
  std::map<FileKey, ModuleId> files_;
  std::map<std::string, ModuleId> named_;
  NamedPlaces named_places_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_ELF_MODULE_H_
