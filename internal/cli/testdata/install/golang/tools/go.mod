module example.com/widgets/tools

go 1.22
