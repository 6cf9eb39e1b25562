#include "profiler/symbolize/elf_module.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "profiler/base/mapped/regular_file.h"
#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

TimeNs ToNs(const timespec& time) {
  return int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

std::string ReadBuildId(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  if (size <= 0) return {};
  return std::string(static_cast<const char*>(bytes),
                     static_cast<size_t>(size));
}

// For files without a build id: true if the file has not changed since it was
// mapped; a new name alone is no change.
bool IsAsMapped(const struct stat& file, const FileIdentity& identity) {
  if (ToNs(file.st_ctim) <= identity.mapped_ns) return true;
  return file.st_ino == identity.inode &&
         ToNs(file.st_mtim) <= identity.mapped_ns;
}

// The size of the image, which ends with its section headers.
size_t VdsoBytes(const char* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace

std::unique_ptr<ElfModule> ElfModule::Vdso() {
  auto module = std::make_unique<ElfModule>("[vdso]");
  const unsigned long address = getauxval(AT_SYSINFO_EHDR);
  if (address == 0) return module;
  const auto* const image = reinterpret_cast<const char*>(address);
  module->vdso_.assign(image, image + VdsoBytes(image));
  elf_version(EV_CURRENT);
  module->elf_ = elf_memory(module->vdso_.data(), module->vdso_.size());
  module->ReadImage();
  return module;
}

std::unique_ptr<ElfModule> ElfModule::Memory(std::string name) {
  auto module = std::make_unique<ElfModule>(std::move(name));
  module->is_memory_ = true;
  return module;
}

std::unique_ptr<ElfModule> ElfModule::File(int64_t pid,
                                           const FileIdentity& identity) {
  auto module = std::make_unique<ElfModule>(identity.path);
  module->is_own_ = pid == getpid();
  elf_version(EV_CURRENT);
  const std::string root = "/proc/" + std::to_string(pid) + "/root";
  for (const std::string& path : {root + identity.path, identity.path}) {
    if (!module->OpenImage(path)) {
      module->is_lost_ = module->is_lost_ || errno == ENOENT;
      continue;
    }
    // A file of another format has no build id.
    if (identity.build_id.empty()
            ? IsAsMapped(module->opened_, identity)
            : module->elf_ != nullptr &&
                  module->build_id_ == identity.build_id) {
      module->is_lost_ = false;
      module->is_other_format_ = module->elf_ == nullptr;
      if (module->is_other_format_) module->CloseImage();
      return module;
    }
    module->is_lost_ = module->is_lost_ || module->elf_ != nullptr;
    module->CloseImage();
  }
  if (module->is_lost_) module->OpenDeleted(pid, identity);
  return module;
}

// False, with errno: there is no such file. If it is no ELF file, elf_ is null.
bool ElfModule::OpenImage(const std::string& path) {
  file_ = OpenRegularFile(path, &opened_);
  if (!file_.is_open()) return false;
  elf_ = elf_begin(file_.get(), ELF_C_READ, nullptr);
  ReadImage();
  return true;
}

// The kernel keeps a deleted file as long as it is mapped.
void ElfModule::OpenDeleted(int64_t pid, const FileIdentity& identity) {
  const std::string folder = absl::StrCat("/proc/", pid, "/");
  for (const std::string& link :
       {absl::StrCat(folder, "exe"),
        absl::StrCat(folder, "map_files/", absl::Hex(identity.begin), "-",
                     absl::Hex(identity.end))}) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(link, error);
    if (error || target != identity.path + " (deleted)") continue;
    if (!OpenImage(link)) continue;
    if (elf_ != nullptr &&
        (identity.build_id.empty() || build_id_ == identity.build_id)) {
      is_lost_ = false;
      return;
    }
    CloseImage();
  }
}

ElfModule::~ElfModule() { CloseImage(); }

void ElfModule::CloseImage() noexcept {
  if (elf_ != nullptr) elf_end(elf_);
  elf_ = nullptr;
  file_ = OwnedDescriptor();
  entry_ = 0;
  is_386_ = false;
  segments_.clear();
  init_code_.clear();
  build_id_.clear();
}

void ElfModule::ReadImage() {
  GElf_Ehdr header;
  if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF ||
      gelf_getehdr(elf_, &header) == nullptr ||
      (header.e_machine != EM_X86_64 && header.e_machine != EM_386 &&
       header.e_machine != EM_AARCH64)) {
    if (elf_ != nullptr) elf_end(elf_);
    elf_ = nullptr;
    return;
  }
  build_id_ = ReadBuildId(elf_);
  entry_ = header.e_entry;
  if (header.e_machine == EM_AARCH64) largest_page_ = kLargestPage;
  is_386_ = header.e_machine == EM_386;
  for (const char* const name : {".init", ".fini"}) {
    if (is_386_) break;  // it takes other amounts of the stack
    if (const auto code = FindElfSection(elf_, name)) {
      init_code_.push_back(
          {code->header.sh_offset, code->header.sh_size, code->header.sh_addr});
    }
  }
  size_t count = 0;
  elf_getphdrnum(elf_, &count);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr) break;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    segments_.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
  }
}

// The compiler's beginning and end of the section are `sub $8, %rsp` and
// `add $8, %rsp; ret`.
uint64_t ElfModule::InitCodeStackBytes(uint64_t address) const noexcept {
  for (const Segment& code : init_code_) {
    const uint64_t offset = address - code.address;
    if (offset >= code.size_bytes) continue;
    return offset == 0 || offset + 1 == code.size_bytes ? 8 : 16;
  }
  return 0;
}

bool ElfModule::ReadCode(uint64_t address,
                         std::span<std::byte> bytes) const noexcept {
  const auto segment = std::find_if(
      segments_.begin(), segments_.end(), [&](const Segment& part) {
        const uint64_t offset = address - part.address;
        return offset < part.size_bytes &&
               bytes.size() <= part.size_bytes - offset;
      });
  if (segment == segments_.end()) return false;
  const uint64_t offset = segment->file_offset + (address - segment->address);
  return image().Read(offset, bytes);
}

std::string_view ElfModule::short_name() const noexcept {
  const std::string_view path = path_;
  return path.substr(path.find_last_of('/') + 1);
}

bool ElfModule::IsUnchanged() const noexcept {
  if (!file_.is_open()) return true;
  struct stat now;
  return fstat(file_.get(), &now) == 0 && now.st_size == opened_.st_size &&
         ToNs(now.st_mtim) == ToNs(opened_.st_mtim);
}

uint64_t ElfModule::Delta(uint64_t start, uint64_t file_offset) const noexcept {
  // A mapping begins on a page, of a size that the file does not say.
  for (const uint64_t page : {kSmallestPage, largest_page_}) {
    for (const Segment& segment : segments_) {
      if (segment.file_offset / page * page <= file_offset &&
          file_offset < segment.file_offset + segment.size_bytes) {
        return segment.address - segment.file_offset + file_offset - start;
      }
    }
  }
  return file_offset - start;
}

ModuleTable::ModuleTable() {
  modules_.push_back(std::make_unique<ElfModule>("[kernel]"));
  modules_.push_back(ElfModule::Memory("[unknown]"));
  modules_.push_back(std::make_unique<ElfModule>("[truncated]"));
  modules_.push_back(std::make_unique<ElfModule>("[jit]"));
  modules_.push_back(std::make_unique<ElfModule>("[named]"));
  modules_.push_back(std::make_unique<ElfModule>("[cut]"));
}

ModuleId ModuleTable::File(int64_t pid, const FileIdentity& identity) {
  const auto [at, is_new] = files_.try_emplace(
      {identity.path, identity.build_id, identity.inode}, modules_.size());
  if (is_new) modules_.push_back(ElfModule::File(pid, identity));
  return at->second;
}

ModuleId ModuleTable::Named(const std::string& name) {
  const auto [at, is_new] = named_.try_emplace(name, modules_.size());
  if (is_new) {
    modules_.push_back(name == "[vdso]" ? ElfModule::Vdso()
                                        : ElfModule::Memory(name));
  }
  return at->second;
}

ModuleId ModuleTable::AddMemory(const std::string& name) {
  modules_.push_back(ElfModule::Memory(name));
  return static_cast<ModuleId>(modules_.size() - 1);
}

}  // namespace kymo::symbolize
