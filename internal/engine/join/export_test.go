package join

// Kernels are the programs of all kernels, by name.
func Kernels() map[string]string {
	all := kernelTexts()
	for name, text := range all {
		all[name] = kernelsText + text
	}
	all["segments"] = segmentsText
	return all
}
