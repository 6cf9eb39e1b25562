#include "backends/off_cpu/look/polled.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include <cstring>
#include <vector>

// AArch64 has the newer forms only.
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#define SYS_select SYS_pselect6
#endif

namespace kymo::off_cpu {
namespace {

// Addresses are those of this process.
bool OwnMemory(uint64_t address, std::span<std::byte> bytes) {
  if (address == 0) return false;
  std::memcpy(bytes.data(), reinterpret_cast<const void*>(address),
              bytes.size());
  return true;
}

uint64_t AddressOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

std::optional<Polled> Read(int64_t number, uint64_t first, uint64_t second = 0,
                           uint64_t third = 0, uint64_t fourth = 0) {
  return ReadPolled(
      {.number = number, .arguments = {first, second, third, fourth}},
      OwnMemory);
}

// poll(2): negative descriptors are ignored.
TEST(PolledTest, PollsDescriptorsAreThoseOfItsArray) {
  const pollfd files[] = {
      {9, POLLIN, 0}, {-1, POLLIN, 0}, {4, POLLOUT, 0}, {9, POLLOUT, 0}};
  const auto polled = Read(SYS_poll, AddressOf(files), 4);
  ASSERT_TRUE(polled.has_value());
  EXPECT_EQ(polled->count, 2u);
  EXPECT_EQ(polled->first, (std::vector<int32_t>{4, 9}));
}

TEST(PolledTest, SelectsDescriptorsAreInAnyOfThreeSets) {
  fd_set in, out;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_SET(70, &in);
  FD_SET(3, &out);
  const auto polled = Read(SYS_select, 71, AddressOf(&in), AddressOf(&out));
  ASSERT_TRUE(polled.has_value());
  EXPECT_EQ(polled->count, 2u);
  EXPECT_EQ(polled->first, (std::vector<int32_t>{3, 70}));
  // Only numbers below the first argument count.
  EXPECT_EQ(Read(SYS_pselect6, 70, AddressOf(&in), 0, AddressOf(&out))->count,
            1u);
}

TEST(PolledTest, OfManyTheNumberIsKnown) {
  std::vector<pollfd> files(100);
  for (int i = 0; i < 100; ++i) files[static_cast<size_t>(i)].fd = i;
  const auto polled = Read(SYS_ppoll, AddressOf(files.data()), 100);
  EXPECT_EQ(polled->count, 100u);
  EXPECT_EQ(polled->first.size(), kMostPolled);
  EXPECT_EQ(Read(SYS_poll, 0, 5000)->count, 5000u);
}

TEST(PolledTest, WhatCannotBeReadIsNotKnown) {
  EXPECT_FALSE(Read(SYS_poll, 0, 2).has_value());
  EXPECT_FALSE(Read(SYS_read, 1, 2).has_value());
}

}  // namespace
}  // namespace kymo::off_cpu
