package bench

// Of sums up the samples of a contestant. Its error, if any, is its last run's.
func Of(name string, samples []Sample, err error) Row {
	r := Row{Name: name, Err: err, Agrees: true}
	for _, s := range samples {
		if r.Answer == "" {
			r.Answer = s.Answer
		}
		r.Agrees = r.Agrees && s.Answer == r.Answer
	}
	r.sum(samples)
	return r
}
