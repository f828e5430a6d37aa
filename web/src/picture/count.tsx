import { useTyped } from '../typed'

const clamp = (n: number, most: number) => Math.min(most, Math.max(1, Math.round(n) || 1))

/** Count is a field of a whole number from 1 to most, taken by Enter or by leaving it. */
export function Count(p: { value: number; most: number; disabled?: boolean; label?: string; onChange(n: number): void }) {
	const typed = useTyped(String(p.value))
	return (
		<input
			type="number"
			min={1}
			max={p.most}
			value={typed.text}
			disabled={p.disabled}
			aria-label={p.label}
			onInput={e => typed.set(e.currentTarget.value)}
			onChange={e => {
				typed.reset()
				p.onChange(clamp(e.currentTarget.valueAsNumber, p.most))
			}}
		/>
	)
}
