exports.greet = () => "hello"
