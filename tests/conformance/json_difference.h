// json_difference.h - where two JSON texts differ in value.
//
//   JsonDifference("{\"a\": [1]}", "{\"a\": [2]}")   // "/a/0: 1 is not 2"
//
// Numbers with a fraction may differ by a millionth, because sums may be taken
// in another order; everything else is compared exactly. Members may stand in
// any order.
#ifndef KYMO_TESTS_CONFORMANCE_JSON_DIFFERENCE_H_
#define KYMO_TESTS_CONFORMANCE_JSON_DIFFERENCE_H_

#include <string>
#include <string_view>

namespace kymo::conformance {

// The first difference; empty if there is none.
std::string JsonDifference(std::string_view actual, std::string_view expected);

}  // namespace kymo::conformance

#endif  // KYMO_TESTS_CONFORMANCE_JSON_DIFFERENCE_H_
