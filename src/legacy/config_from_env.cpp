#include <fairlead/io/environment.hpp>
#include <fairlead/legacy/config.hpp>

#include <cctype>

namespace fairlead {
namespace {

class environment_config final : public config_service {
public:
    environment_config(execution_context& c, std::string const& prefix) : config_service(c), prefix_(prefix) {}
    char const* get_value(char const* section, char const* key, char*, std::size_t) const override {
        std::string name = prefix_;
        if (!name.empty())
            name += '_';
        name.append(section).append("_").append(key);
        for (char& c : name)
            c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        return io::environment_variable(name.c_str());
    }

private:
    std::string prefix_;
};

} // namespace

config_from_env::config_from_env() : prefix_("asio") {} // Programs written for Asio expect it.
void config_from_env::make(execution_context& c) const { make_service<environment_config>(c, prefix_); }

} // namespace fairlead
