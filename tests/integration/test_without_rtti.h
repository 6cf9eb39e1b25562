// test_without_rtti.h - a session in code that is built with -fno-exceptions
// and -fno-rtti, as whole programs are.
//
//   EXPECT_EQ(EventsRecordedWithoutRtti(), 1);
#ifndef KYMO_TESTS_INTEGRATION_TEST_WITHOUT_RTTI_H_
#define KYMO_TESTS_INTEGRATION_TEST_WITHOUT_RTTI_H_

#include <cstdint>

namespace kymo {

// Records one range. Returns the number of events that an exporter of this code
// sees, or -1 if there was an error.
int64_t EventsRecordedWithoutRtti();

}  // namespace kymo

#endif  // KYMO_TESTS_INTEGRATION_TEST_WITHOUT_RTTI_H_
