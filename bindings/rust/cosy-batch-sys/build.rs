// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! Finds libcosy-batch by pkg-config. PKG_CONFIG is the command, by default pkg-config.

use std::env;
use std::process::{exit, Command};

fn pkg_config(argument: &str) -> Result<String, String> {
    let command = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let mut words = command.split_whitespace();
    let program = words.next().ok_or("PKG_CONFIG is empty")?;
    let output = Command::new(program)
        .args(words)
        .args([argument, "cosy-batch"])
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let words = pkg_config("--libs").unwrap_or_else(|error| {
        eprintln!("cannot find libcosy-batch by pkg-config: {error}");
        eprintln!(
            "  HINT: run `./cosy install`, or set PKG_CONFIG_PATH to the directory of cosy-batch.pc"
        );
        exit(1);
    });
    let kind = match env::var_os("CARGO_FEATURE_STATIC") {
        Some(_) => "static",
        None => "dylib",
    };
    for word in words.split_whitespace() {
        if let Some(directory) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={directory}");
        } else if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={kind}={name}");
        }
    }
}
