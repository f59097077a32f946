// The options of `karst audit …`, for main.cc, whose parser lives as long as they do.
#pragma once

#include <functional>
#include <string>

#include "tools/commands.h"

namespace CLI {
class App;
}

namespace karst::tools {

struct AuditLine {
  AuditExportOptions take;
  AuditProofOptions proof;
  AuditVerifyOptions verify;
};

// `chosen` becomes what to do.
void add_audit(CLI::App& app, AuditLine& line, std::function<int()>& chosen);

void add_data(CLI::App* command, std::string& data);  // --data DIR; in main.cc

}  // namespace karst::tools
