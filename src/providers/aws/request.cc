#include "providers/aws/request.h"

namespace karst::providers::aws {

void add_filter(Request& request, std::string_view name, const std::vector<std::string>& values) {
  Tree filter = {{"Name", name}, {"Value", values}};
  request.parameters["Filter"].push_back(std::move(filter));
}

}  // namespace karst::providers::aws
