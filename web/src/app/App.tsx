import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ProblemError, type Graphs } from '../api'
import { Client } from '../client'
import { sentence } from './Notes'
import { Page } from './Page'
import { keepSession, loadSession, nobody } from './session'
import { SignIn } from './SignIn'
import './style.css'

/** The page, or what the server asks for before it. */
export function App() {
	const [session, setSession] = useState(loadSession)
	const [known, setKnown] = useState<Graphs | null>(null)
	const [refused, setRefused] = useState<string | null>(null) // why the user has to sign in
	const [trouble, setTrouble] = useState('') // why there is no list of graphs
	const [asking, setAsking] = useState(0)
	const api = useMemo(() => new Client(session.header), [session])
	// The credentials with which the page was shown, if it was: those of a former user, once they are refused.
	const worked = useRef(session.header)

	useEffect(() => {
		let current = true
		setTrouble('')
		api.graphs().then(
			graphs => {
				if (!current) return
				setKnown(graphs)
				setRefused(null)
				worked.current = session.header
				keepSession(session)
			},
			(e: unknown) => {
				if (!current) return
				setKnown(null)
				const problem = e instanceof ProblemError ? e.problem : null
				if (problem && (problem.status === 401 || problem.status === 429)) {
					keepSession(nobody)
					if (session.header && session.header === worked.current) forgetAddress()
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

	const end = () => {
		forgetAddress()
		keepSession(nobody)
		setKnown(null)
	}
	const signOut = () => {
		end()
		setSession({ ...nobody })
	}
	const refuse = () => {
		end()
		setRefused('')
	}

	const refreshing = useRef(false)
	const refresh = async () => {
		if (refreshing.current) return
		refreshing.current = true
		try {
			const graphs = await api.graphs()
			setKnown(old => (old && JSON.stringify(old) !== JSON.stringify(graphs) ? graphs : old))
		} catch (e) {
			if (e instanceof ProblemError && e.problem.status === 401) refuse()
			// Otherwise the old list stays, and the next query tells what is wrong.
		} finally {
			refreshing.current = false
		}
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
	if (!known) return <main class="alone" aria-busy="true" />
	return <Page key={known.user} api={api} user={known.user} graphs={known.graphs} onRefresh={refresh} onSignOut={session.header ? signOut : null} onRefused={refuse} />
}

/** The query in the address is not the next user's. */
function forgetAddress() {
	history.replaceState(null, '', location.pathname + location.search)
}
