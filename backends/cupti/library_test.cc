// Tests the toolkit's own libcupti, on a machine that most likely has no
// driver.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "backends/cupti/cupti_backend.h"
#include "backends/cupti/driver.h"
#include "backends/cupti/target/capture.h"
#include "backends/cupti/target/cupti_library.h"

namespace kymo::cupti {
namespace {

TEST(LibraryTest, IsLoadedByVersionAndAnswers) {
  if (!kHasCupti) GTEST_SKIP() << "built without CUDA's headers";
  char problem[256] = {};
  const CuptiApi* const api =
      LoadCupti(CuptiPaths(13'000).c_str(), problem, sizeof(problem));
  if (api == nullptr) GTEST_SKIP() << problem;
  EXPECT_GE(api->version, 18u) << "that of CUDA 12";
  uint64_t now = 0;
  EXPECT_EQ(api->timestamp(&now), ApiStatus::kOk);
  EXPECT_GT(now, 0u);
  EXPECT_NE(api->text(ApiStatus::kOtherSubscriber), nullptr);
  EXPECT_EQ(LoadCupti("", problem, sizeof(problem)), api) << "once";
}

TEST(LibraryTest, WithoutADriverACaptureSaysWhatIsMissing) {
  if (FindDriver().ok()) GTEST_SKIP() << "there is a driver";
  char problem[256] = {};
  const CuptiApi* const api =
      LoadCupti(CuptiPaths(13'000).c_str(), problem, sizeof(problem));
  if (api == nullptr) GTEST_SKIP() << problem;
  LogHeader header;
  EXPECT_FALSE(StartCapture(*api, {}, {}, &header));
  EXPECT_EQ(header.state, LogState::kFailed);
  EXPECT_NE(std::string(header.problem).find("NVIDIA driver"),
            std::string::npos)
      << header.problem;
}

TEST(LibraryTest, TheBackendSaysThatThereIsNoDriver) {
  const absl::StatusOr<int> driver = FindDriver();
  const std::unique_ptr<ActivityBackend> backend = NewCuptiBackend();
  const absl::Status status = backend->Availability({});
  if (!kHasCupti) {
    EXPECT_NE(status.message().find("built without CUDA"), std::string::npos);
    // Where there is no driver, that matters more.
    EXPECT_EQ(status.code(), absl::IsNotFound(driver.status())
                                 ? absl::StatusCode::kNotFound
                                 : absl::StatusCode::kUnimplemented);
  } else if (driver.ok()) {
    EXPECT_TRUE(status.ok()) << status;
  } else {
    EXPECT_EQ(status.code(), driver.status().code());
    EXPECT_NE(status.message().find("no NVIDIA"), std::string::npos) << status;
  }
}

TEST(LibraryTest, IsFoundInTheFoldersOfPythonAndConda) {
  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / "library_test";
  const std::string wheel =
      root / "lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13";
  const std::string conda = root / "lib/libcupti.so.13";
  std::filesystem::create_directories(
      std::filesystem::path(wheel).parent_path());
  std::ofstream{wheel};
  std::ofstream{conda};
  setenv("CONDA_PREFIX", root.c_str(), 1);
  const std::string paths = CuptiPaths(13'000);
  unsetenv("CONDA_PREFIX");
  EXPECT_NE(paths.find(wheel), std::string::npos) << paths;
  EXPECT_NE(paths.find(conda), std::string::npos) << paths;
  EXPECT_EQ(CuptiPaths(13'000).find(root), std::string::npos);
}

TEST(LibraryTest, IsFoundWhereEachVariableSays) {
  const std::string root = ::testing::TempDir() + "/library_variables";
  constexpr char kWheel[] = "/python3.9/dist-packages/nvidia/cuda_cupti/lib";
  for (const auto& [variable, folder] :
       {std::pair("CUDA_HOME", std::string("/extras/CUPTI/lib64")),
        std::pair("CUDA_HOME", std::string("/lib64")),
        std::pair("CUDA_PATH", std::string("/lib")),
        std::pair("VIRTUAL_ENV", std::string("/lib") + kWheel),
        std::pair("HOME", std::string("/.local/lib") + kWheel)}) {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root + folder);
    const std::string path = root + folder + "/libcupti.so.12";
    std::ofstream{path};
    const char* const before = getenv(variable);
    setenv(variable, root.c_str(), 1);
    const std::string paths = CuptiPaths(12'040);
    EXPECT_NE(paths.find(path), paths.npos) << variable << ": " << paths;
    EXPECT_NE(CuptiPaths(13'000).find(path), std::string::npos);
    setenv(variable, "", 1);
    EXPECT_EQ(CuptiPaths(12'040).find(path), std::string::npos);
    before == nullptr ? unsetenv(variable) : setenv(variable, before, 1);
  }
}

TEST(LibraryTest, NamesWhatIsMissingWhereNoPathCanBeLoaded) {
  if (!kHasCupti) GTEST_SKIP() << "built without CUDA's headers";
  EXPECT_EQ(CuptiPaths(11'080), "") << "too old a driver";
  EXPECT_NE(CuptiPaths(12'040).find("libcupti.so.12"), std::string::npos);
  EXPECT_EQ(CuptiPaths(12'040).find("libcupti.so.13"), std::string::npos);
}

}  // namespace
}  // namespace kymo::cupti
