// Does nothing, and ends well.
int main() { return 0; }
