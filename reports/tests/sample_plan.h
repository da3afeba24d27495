/* SPDX-License-Identifier: MIT */
#pragma once

/* A plan to journal: checks that run, one of them expected to fail, and one that does not. */

static const char *const sample_plan =
	"{\"settings\":{\"launcher\":\"none\",\"profile\":\"1.36\",\"thorough\":false},"
	"\"filteredOut\":7,\"requirements\":[{\"id\":\"R-1\",\"level\":\"must\","
	"\"sentence\":\"It holds.\",\"source\":\"a text\"}],\"checks\":["
	"{\"id\":\"a.one\",\"revision\":1,\"requirement\":\"R-1\",\"severity\":\"high\","
	"\"title\":\"One\",\"advice\":\"Do.\","
	"\"expected\":{\"outcome\":\"fail\",\"entry\":\"entry#1\"}},"
	"{\"id\":\"a.two\",\"revision\":2,\"requirement\":null,\"severity\":\"low\","
	"\"title\":\"Two\",\"advice\":\"Do.\","
	"\"outcome\":\"unsupported\",\"reason\":\"needs more\"},"
	"{\"id\":\"a.three\",\"revision\":1,\"requirement\":null,\"severity\":\"low\","
	"\"title\":\"Three\",\"advice\":\"Do.\"}]}";
