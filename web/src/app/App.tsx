import { useEffect, useMemo, useState } from 'preact/hooks'
import { ProblemError, type Graph } from '../api'
import { Client } from '../client'
import { sentence } from './Notes'
import { Page } from './Page'
import { keepSession, loadSession, nobody } from './session'
import { SignIn } from './SignIn'
import './style.css'

/** The page, or what the server asks for before it. */
export function App() {
	const [session, setSession] = useState(loadSession)
	const [graphs, setGraphs] = useState<Graph[] | null>(null)
	const [refused, setRefused] = useState<string | null>(null) // why the user has to sign in
	const [trouble, setTrouble] = useState('') // why there is no list of graphs
	const [asking, setAsking] = useState(0)
	const api = useMemo(() => new Client(session.header), [session])

	useEffect(() => {
		let current = true
		setTrouble('')
		api.graphs().then(
			list => {
				if (!current) return
				setGraphs(list)
				setRefused(null)
				keepSession(session)
			},
			(e: unknown) => {
				if (!current) return
				setGraphs(null)
				const problem = e instanceof ProblemError ? e.problem : null
				if (problem && (problem.status === 401 || problem.status === 429)) {
					keepSession(nobody)
		history.replaceState(null, '', location.pathname) // the query is not the next user's
					const wait = problem.retry ? ` Try again in ${problem.retry} s.` : ''
					setRefused(session.header ? `${sentence(problem.detail)}${wait}` : '')
				} else {
					setTrouble(problem?.detail ?? 'The server cannot be reached.')
				}
			},
		)
		return () => {
			current = false
		}
	}, [api, asking])

	const signOut = () => {
		keepSession(nobody)
		setGraphs(null)
		setSession({ ...nobody })
	}

	if (refused !== null) return <SignIn message={refused || (trouble ? sentence(trouble) : '')} onSession={setSession} />
	if (trouble)
		return (
			<main class="alone">
				<p class="wrong" role="alert">
					{sentence(trouble)}
				</p>
				<button type="button" onClick={() => setAsking(asking + 1)}>
					Try again
				</button>
			</main>
		)
	if (!graphs) return <main class="alone" aria-busy="true" />
	return <Page api={api} graphs={graphs} session={session} onSignOut={signOut} onRefused={() => setRefused('')} />
}
