/** App is the whole page. */
export function App() {
	return <main>weft</main>
}
