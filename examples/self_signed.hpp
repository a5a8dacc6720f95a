// A certificate for "localhost" that vouches for itself, made by the openssl command in a folder that goes again.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <unistd.h>

struct self_signed {
    std::filesystem::path folder;
    std::string certificate, key;

    self_signed() : folder(std::filesystem::temp_directory_path() / ("self_signed_" + std::to_string(::getpid()))) {
        std::filesystem::create_directory(folder);
        certificate = folder / "certificate.pem";
        key = folder / "key.pem";
        std::string const make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1"
                                 " -subj /CN=localhost -addext subjectAltName=DNS:localhost -out '" +
                                 certificate + "' -keyout '" + key + "' 2>/dev/null";
        if (std::system(make.c_str()) != 0)
            throw std::runtime_error("the command openssl is not installed, or could not make a certificate");
    }
    self_signed(self_signed const&) = delete;
    self_signed& operator=(self_signed const&) = delete;
    ~self_signed() { std::filesystem::remove_all(folder); }
};
