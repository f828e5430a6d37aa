package partition

// Kernels returns the texts of all kernels, by name.
func Kernels() map[string]string {
	texts := kernelTexts()
	for name, text := range texts {
		texts[name] = kernelsText + text
	}
	return texts
}
