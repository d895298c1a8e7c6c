package widgets
