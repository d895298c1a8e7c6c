const test = require("node:test"), assert = require("node:assert")
test("greets", () => assert.equal(require("./greet").greet(), "hello"))
