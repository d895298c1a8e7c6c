module widgets

go 1.22
