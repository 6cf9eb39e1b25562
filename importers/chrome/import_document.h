// import_document.h - imports a Chrome trace from its text: the importer
// without files.
#ifndef KYMO_IMPORTERS_CHROME_IMPORT_DOCUMENT_H_
#define KYMO_IMPORTERS_CHROME_IMPORT_DOCUMENT_H_

#include "absl/status/statusor.h"
#include "importers/chrome/document_reader.h"
#include "importers/chrome/json/text_source.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo::chrome_import {

// Returns the errors of DocumentReader.
absl::StatusOr<ImportedTrace> ImportDocument(TextSource& source,
                                             const ReaderOptions& options);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_IMPORT_DOCUMENT_H_
