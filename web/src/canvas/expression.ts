import { isReserved, type Token } from './lex'

const arithmetic = ['+', '-', '*', '/', '%']
const comparison = ['=', '<>', '!=', '<', '<=', '>', '>=']
const keywords = ['AND', 'OR', 'IN']

/**
 * isExpression reports whether tokens are values with operators between them, as in a condition; a value of a property has only those of
 * arithmetic. It does not ask whether names are known.
 */
export function isExpression(tokens: Token[], condition: boolean): boolean {
	const open: string[] = []
	let value = false // whether a value has just ended
	for (let i = 0; ; i++) {
		const t = tokens[i]!
		const next = tokens[i + 1]
		const word = t.kind === 'word' ? t.text.toUpperCase() : ''
		const symbol = t.kind === 'symbol' ? t.text : ''
		const logic = condition || open.length > 0
		if (t.kind === 'end') return value && open.length === 0
		if (symbol === ')' || symbol === ']') {
			const empty = i > 0 && (tokens[i - 1]!.text === '[' || (tokens[i - 1]!.text === '(' && open.at(-1) === 'call'))
			const bracket = open.pop()
			if ((!value && !empty) || (bracket === '[') !== (symbol === ']') || !bracket) return false
			value = true
		} else if (!value) {
			if (symbol === '-' || (word === 'NOT' && logic)) continue
			if (symbol === '(' || symbol === '[') open.push(symbol)
			else if (word === 'EXISTS' && next?.text === '{') {
				for (let depth = 0; ; ) {
					const inner = tokens[++i]!
					if (inner.kind === 'end') return false
					if (inner.text === '{' && inner.kind === 'symbol') depth++
					if (inner.text === '}' && inner.kind === 'symbol' && --depth === 0) break
				}
				value = true
			} else if (['TRUE', 'FALSE', 'NULL'].includes(word) || ['number', 'string', 'parameter', 'quoted'].includes(t.kind)) value = true
			else if (['TIMESTAMP', 'DATE', 'DURATION'].includes(word) && next?.kind === 'string') {
				i++
				value = true
			} else if (word && next?.text === '(' && (!isReserved(word) || word === 'ALL_DIFFERENT')) {
				open.push('call')
				i++
			} else if (word && !isReserved(word)) value = true
			else return false
		} else if (symbol === '.') {
			if (!next || !['word', 'quoted', 'number'].includes(next.kind)) return false
			i++
		} else if (symbol === ',' && open.length > 0 && open.at(-1) !== '(') value = false
		else if (arithmetic.includes(symbol) || (logic && (comparison.includes(symbol) || keywords.includes(word)))) value = false
		else if (logic && word === 'NOT' && next?.text.toUpperCase() === 'IN') continue
		else if (logic && word === 'IS') {
			if (tokens[i + 1]!.text.toUpperCase() === 'NOT') i++
			if (tokens[++i]?.text.toUpperCase() !== 'NULL') return false
		} else return false
	}
}
