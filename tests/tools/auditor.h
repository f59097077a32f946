// An auditor with a folder of its own: takes trails home, makes keys and verifies with the program.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/program.h"

namespace karst::tests {

class Auditor : public ::testing::Test {
 protected:
  // The output of a command that must work, in a file.
  std::string made(const std::string& name, const std::vector<std::string>& arguments) {
    const Ended ended = karst(arguments);
    EXPECT_EQ(ended.code, 0) << name << ": " << ended.err;
    write_file(folder_ / name, ended.out);
    return folder_ / name;
  }
  Ended verify(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"audit", "verify"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return karst(all);
  }
  std::string new_key(const std::string& name) {
    const Ended ended =
        karst({"audit", "keygen", "--out", folder_ / name, "--name", "example.com/" + name});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out.substr(0, ended.out.find('\n'));
  }

  TempFolder folder_;
};

}  // namespace karst::tests
