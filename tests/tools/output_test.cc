// Files that cannot be written to their end.
#include <gtest/gtest.h>

#include "tests/tools/story.h"

namespace karst::tests {
namespace {

// A limit on the size of files stands for a full disk.
TEST(Output, AFileThatCannotBeWrittenIsNamedWithTheReason) {
  const TempFolder folder;
  for (const std::string format : {"csv", "parquet", "cloudevents", "tiles"}) {
    const std::string out = folder / format;
    const Ended ended = shell("trap '' XFSZ; ulimit -f 8; \"$KARST\" audit export --format " +
                              format + " --data '" + story() + "' --out '" + out + "'");
    EXPECT_EQ(ended.code, 4) << format << ended.err;
    for (const std::string& part : {out, std::string("File too large"), std::string("Free some")})
      EXPECT_NE(ended.err.find(part), std::string::npos) << format << ": " << ended.err;
    if (format != "tiles") {
      EXPECT_FALSE(std::filesystem::exists(out)) << format;
    }
  }
}

}  // namespace
}  // namespace karst::tests
