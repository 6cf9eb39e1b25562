// test_document.h - everything that the import of a document gave, as text.
//
//   EXPECT_EQ(TextOf(R"([{"ph":"X","name":"a","ts":1,"dur":1}])"),
//             "window 1000-2000\n...");
#ifndef KYMO_IMPORTERS_CHROME_TEST_DOCUMENT_H_
#define KYMO_IMPORTERS_CHROME_TEST_DOCUMENT_H_

#include <string>
#include <string_view>

namespace kymo::chrome_import {

// The window, processes, tracks with their events, counters, records of memory,
// samples, metadata, losses and findings, one to a line. The text must be the
// same if the document is read an element at a time.
std::string TextOf(std::string_view document);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_TEST_DOCUMENT_H_
