#include "profiler/symbolize/stripped/mapped_image.h"

#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/base/owned_descriptor.h"
#include "profiler/symbolize/stripped/elf_section.h"
#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

constexpr size_t kInfoBytes = size_t{8} << 20;

class MappedImageTest : public testing::Test {
 protected:
  ~MappedImageTest() override { std::filesystem::remove(path_); }

  static TestElf WithInfo() {
    TestElf elf;
    elf.Add({.name = ".text", .address = 0x1000, .bytes = "code"});
    elf.Add({.name = ".debug_info", .bytes = std::string(kInfoBytes, 'i')});
    elf.Add({.name = ".debug_line", .bytes = "lines"});
    return elf;
  }

  bool Maps(const TestElf& file, uint64_t least_bytes = 1) {
    file.WriteTo(path_);
    const OwnedDescriptor opened(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    elf_version(EV_CURRENT);
    Elf* const elf = elf_begin(opened.get(), ELF_C_READ, nullptr);
    image_ = std::make_unique<MappedImage>(elf, opened.get(), least_bytes);
    elf_end(elf);
    return image_->elf() != nullptr;
  }
  // Without a copy.
  std::string_view Section(const char* name) const {
    const auto section = FindElfSection(image_->elf(), name);
    if (!section) return {};
    const Elf_Data* const data = elf_getdata(section->section, nullptr);
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  std::string FileBytes() const {
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  static size_t Count(std::string_view text, char wanted) {
    size_t count = 0;
    for (const char c : text) count += c == wanted;
    return count;
  }

  const std::string path_ = testing::TempDir() + "/mapped_image_test";
  std::unique_ptr<MappedImage> image_;
};

// Of files, as the kernel counts them: files of a tmpfs are shared memory.
int64_t ResidentFileBytes() {
  int64_t bytes = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:") || line.starts_with("RssShmem:")) {
      bytes += std::stoll(line.substr(line.find(':') + 1)) << 10;
    }
  }
  return bytes;
}

TEST_F(MappedImageTest, GivesPagesBackAndReadsThemAgain) {
  ASSERT_TRUE(Maps(WithInfo()));
  const std::string_view info = Section(".debug_info");
  EXPECT_EQ(Section(".debug_line"), "lines");
  EXPECT_EQ(Section(".text"), "code");
  EXPECT_EQ(Count(info, 'i'), kInfoBytes);
  const int64_t before = ResidentFileBytes();
  image_->GiveBack();
  EXPECT_LT(ResidentFileBytes(), before - int64_t{kInfoBytes} / 2);
  EXPECT_EQ(Count(info, 'i'), kInfoBytes);
}

TEST_F(MappedImageTest, LittleIsLeftToLibdw) {
  EXPECT_TRUE(Maps(WithInfo(), kInfoBytes + 5));
  EXPECT_FALSE(Maps(WithInfo(), kInfoBytes + 6));
  EXPECT_FALSE(Maps(TestElf()));
  EXPECT_EQ(MappedImage().elf(), nullptr);
  EXPECT_EQ(MappedImage(nullptr, -1, 1).elf(), nullptr);
  MappedImage().GiveBack();
}

TEST_F(MappedImageTest, WhatIsCompressedOrElsewhereIsLeftToLibdw) {
  TestElf compressed = WithInfo();
  compressed.Add(
      {.name = ".debug_str", .bytes = "zlib", .flags = SHF_COMPRESSED});
  EXPECT_FALSE(Maps(compressed));
  for (const char* const name : {".gnu_debugaltlink", ".debug_addr",
                                 ".zdebug_str", ".gnu.debuglto_.debug_str"}) {
    TestElf elsewhere = WithInfo();
    elsewhere.Add({.name = name, .bytes = "other"});
    EXPECT_FALSE(Maps(elsewhere)) << name;
  }
}

// libelf sets a header where it stands, for example when it decompresses.
TEST_F(MappedImageTest, LibelfMaySetHeaders) {
  ASSERT_TRUE(Maps(WithInfo()));
  const auto info = FindElfSection(image_->elf(), ".debug_info");
  ASSERT_TRUE(info);
  GElf_Shdr header = info->header;
  header.sh_size = 5;
  EXPECT_NE(gelf_update_shdr(info->section, &header), 0);
  EXPECT_EQ(FindElfSection(image_->elf(), ".debug_info")->header.sh_size, 5u);
  // The file keeps its own.
  EXPECT_EQ(FileBytes(), WithInfo().Bytes());
}

TEST_F(MappedImageTest, AFileThatIsShortenedMeanwhileHasZeros) {
  ASSERT_TRUE(Maps(WithInfo()));
  const std::string_view info = Section(".debug_info");
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(Count(info, '\0'), kInfoBytes);
  image_->GiveBack();
  EXPECT_EQ(Count(info, '\0'), kInfoBytes);
}

}  // namespace
}  // namespace kymo::symbolize
