#include "profiler/base/code_mappings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "profiler/base/device_type.h"
#include "profiler/base/memory_category.h"
#include "profiler/base/names.h"
#include "profiler/base/record_scope.h"
#include "profiler/base/time.h"

namespace kymo {
namespace {

using code_mappings::LineReader;
using code_mappings::ParseLine;

TEST(CodeMappingsTest, ReadsTheFieldsOfAnExecutableMapping) {
  CodeMapping mapping;
  ASSERT_TRUE(ParseLine(
      "7f00deadb000-7f00deadc0f9 r-xp 0001a9f0 fe:01 1234567890 /bin/a b",
      &mapping));
  EXPECT_EQ(mapping.start, 0x7f00deadb000u);
  EXPECT_EQ(mapping.end, 0x7f00deadc0f9u);
  EXPECT_EQ(mapping.file_offset, 0x1a9f0u);
  EXPECT_EQ(mapping.inode, 1234567890u);
  EXPECT_STREQ(mapping.path, "/bin/a b");
  ASSERT_TRUE(
      ParseLine("1000-2000 rwxs 00000000 00:00 0          [heap]", &mapping));
  EXPECT_EQ(mapping.inode, 0u);
  EXPECT_STREQ(mapping.path, "[heap]");
  ASSERT_TRUE(ParseLine("1000-2000 --xp 00000000 00:00 0 ", &mapping));
  EXPECT_STREQ(mapping.path, "");
  ASSERT_TRUE(ParseLine("1000-2000 r-xp 0 00:00 9", &mapping));
  EXPECT_EQ(mapping.inode, 9u);
  EXPECT_STREQ(mapping.path, "");
}

TEST(CodeMappingsTest, OtherLinesAreNone) {
  CodeMapping mapping;
  for (const char* const line :
       {"", "1000", "1000 2000 r-xp 0 00:00 0", "1000-2000", "1000-2000_r-xp",
        "1000-2000 r-x", "1000-2000 r--p 0 00:00 0 /x",
        "1000-2000 rxwp 0 00:00 0 /x", "nonsense"}) {
    EXPECT_FALSE(ParseLine(line, &mapping)) << line;
  }
}

// The lines of a file, and how many were too long for `buffer_bytes`.
std::vector<std::string> LinesOf(const std::string& text, size_t buffer_bytes,
                                 size_t too_long = 0) {
  const int fd = memfd_create("lines", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
  lseek(fd, 0, SEEK_SET);
  std::vector<char> buffer(buffer_bytes);
  LineReader reader(fd, buffer.data(), buffer.size());
  std::vector<std::string> lines;
  while (const char* const line = reader.Next()) lines.push_back(line);
  EXPECT_EQ(reader.too_long(), too_long);
  close(fd);
  return lines;
}
using Lines = std::vector<std::string>;

TEST(CodeMappingsTest, ReadsLineByLineWhateverTheBuffer) {
  for (const size_t bytes : {7, 8, 9, 100}) {
    EXPECT_EQ(LinesOf("one\n\ntwo\nlonger\nend\n", bytes),
              (Lines{"one", "", "two", "longer", "end"}))
        << bytes;
  }
  EXPECT_EQ(LinesOf("", 8), Lines());
  // What is not closed by a newline is no line.
  EXPECT_EQ(LinesOf("one\ntwo", 8), Lines{"one"});
}

TEST(CodeMappingsTest, ALineThatIsTooLongIsLeftOutAndCounted) {
  // With its newline.
  EXPECT_EQ(LinesOf("1234567\nx\n", 8), (Lines{"1234567", "x"}));
  EXPECT_EQ(LinesOf("12345678\nx\n", 8, 1), Lines{"x"});
  // Longer than two buffers, and one right behind it.
  EXPECT_EQ(LinesOf("one\n0123456789abcdef!\n123456789\nx\n", 8, 2),
            (Lines{"one", "x"}));
  EXPECT_EQ(LinesOf("123456789", 8, 1), Lines());
}

ptrdiff_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

TEST(CodeMappingsTest, FindsTheCodeOfThisProcess) {
  const ptrdiff_t descriptors = OpenDescriptors();
  const auto address = reinterpret_cast<uint64_t>(&LinesOf);
  char buffer[8192];
  int found = 0;
  errno = EIO;
  const size_t too_long = ForEachCodeMapping(
      buffer, sizeof(buffer), [&](const CodeMapping& mapping) {
        EXPECT_LT(mapping.start, mapping.end);
        if (address < mapping.start || address >= mapping.end) return;
        ++found;
        EXPECT_EQ(mapping.path,
                  std::filesystem::read_symlink("/proc/self/exe"));
        EXPECT_NE(mapping.inode, 0u);
      });
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(too_long, 0u);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(OpenDescriptors(), descriptors);
  // No line fits.
  char small[16];
  EXPECT_GT(ForEachCodeMapping(small, sizeof(small), [](const CodeMapping&) {}),
            3u);
}

// --- names of devices and of what memory is for ---

// c10/core/DeviceType.
TEST(NamesTest, DevicesHavePyTorchsNames) {
  const std::pair<DeviceType, const char*> devices[] = {
      {DeviceType::kCpu, "CPU"},
      {DeviceType::kCuda, "CUDA"},
      {DeviceType::kMkldnn, "MKLDNN"},
      {DeviceType::kOpengl, "OPENGL"},
      {DeviceType::kOpencl, "OPENCL"},
      {DeviceType::kIdeep, "IDEEP"},
      {DeviceType::kHip, "HIP"},
      {DeviceType::kFpga, "FPGA"},
      {DeviceType::kMaia, "MAIA"},
      {DeviceType::kXla, "XLA"},
      {DeviceType::kVulkan, "Vulkan"},
      {DeviceType::kMetal, "Metal"},
      {DeviceType::kXpu, "XPU"},
      {DeviceType::kMps, "MPS"},
      {DeviceType::kMeta, "Meta"},
      {DeviceType::kHpu, "HPU"},
      {DeviceType::kVe, "VE"},
      {DeviceType::kLazy, "Lazy"},
      {DeviceType::kIpu, "IPU"},
      {DeviceType::kMtia, "MTIA"},
      {DeviceType::kPrivateUse1, "PrivateUse1"}};
  int number = 0;
  for (const auto& [device, name] : devices) {
    EXPECT_EQ(static_cast<int>(device), number++);
    EXPECT_EQ(DeviceTypeName(device), name);
  }
  EXPECT_EQ(DeviceTypeName(DeviceType{21}), "");
  EXPECT_EQ(DeviceTypeName(DeviceType{255}), "");
}

// at::RecordScope.
TEST(NamesTest, ScopesHavePyTorchsNumbers) {
  const RecordScope scopes[] = {RecordScope::kFunction,
                                RecordScope::kBackwardFunction,
                                RecordScope::kTorchscriptFunction,
                                RecordScope::kKernelFunctionDtype,
                                RecordScope::kCustomClass,
                                RecordScope::kBuildFeature,
                                RecordScope::kLiteInterpreter,
                                RecordScope::kUserScope,
                                RecordScope::kStaticRuntimeOp,
                                RecordScope::kStaticRuntimeModel};
  int number = 0;
  for (const RecordScope scope : scopes) {
    EXPECT_EQ(static_cast<int>(scope), number++);
  }
}

TEST(NamesTest, UnitsOfTimeAreNanoseconds) {
  EXPECT_EQ(kNsPerUs, 1'000);
  EXPECT_EQ(kNsPerMs, 1'000'000);
  EXPECT_EQ(kNsPerSecond, 1'000'000'000);
}

// torch/profiler/_memory_profiler.py, Category.
TEST(NamesTest, MemoryHasPyTorchsCategories) {
  EXPECT_EQ(MemoryCategoryName(MemoryCategory{0}), "PARAMETER");
  EXPECT_EQ(MemoryCategoryName(MemoryCategory{3}), "TEMPORARY");
  EXPECT_EQ(MemoryCategoryName(MemoryCategory{6}), "AUTOGRAD_DETAIL");
  EXPECT_EQ(MemoryCategoryName(MemoryCategory::kUnknown), "Unknown");
  EXPECT_EQ(MemoryCategoryName(MemoryCategory{8}), "Unknown");
  EXPECT_EQ(MemoryCategoryName(MemoryCategory{255}), "Unknown");
}

TEST(NamesTest, PluginsHaveLowerSnakeNames) {
  EXPECT_TRUE(IsLowerSnake("cuda_markers_09"));
  EXPECT_TRUE(IsLowerSnake("a"));
  for (const char* const name : {"", "A", "a-b", "a b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsLowerSnake(name)) << name;
  }
}

}  // namespace
}  // namespace kymo
