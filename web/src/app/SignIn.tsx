import type { TargetedSubmitEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { withPassword, withToken, type Session } from './session'

/** Asks for a user and a password, or for a token. */
export function SignIn(p: { message: string; onSession(s: Session): void }) {
	const [way, setWay] = useState<'password' | 'token'>('password')
	const [user, setUser] = useState('')
	const [secret, setSecret] = useState('')
	const first = useRef<HTMLInputElement>(null)
	useLayoutEffect(() => first.current?.focus(), [way])

	const onSubmit = (e: TargetedSubmitEvent<HTMLFormElement>) => {
		e.preventDefault()
		p.onSession(way === 'token' ? withToken(secret) : withPassword(user, secret))
	}

	return (
		<main class="sign-in">
			<form onSubmit={onSubmit} aria-labelledby="sign-in-title">
				<h1 id="sign-in-title">Sign in to weft</h1>
				<fieldset class="choice">
					<legend class="hidden">How to sign in</legend>
					{(['password', 'token'] as const).map(w => (
						<label key={w}>
							<input type="radio" name="way" checked={way === w} onChange={() => setWay(w)} />
							<span>{w === 'password' ? 'User and password' : 'Token'}</span>
						</label>
					))}
				</fieldset>
				{way === 'password' && (
					<label class="field">
						User
						<input ref={first} name="user" autocomplete="username" required value={user} onInput={e => setUser(e.currentTarget.value)} />
					</label>
				)}
				<label class="field">
					{way === 'password' ? 'Password' : 'Token'}
					<input
						ref={way === 'token' ? first : undefined}
						name="secret"
						type="password"
						autocomplete={way === 'password' ? 'current-password' : 'off'}
						required
						value={secret}
						onInput={e => setSecret(e.currentTarget.value)}
					/>
				</label>
				{p.message && (
					<p class="wrong" role="alert">
						{p.message}
					</p>
				)}
				<button type="submit" class="primary">
					Sign in
				</button>
				<p class="soft">The page keeps this until the tab is closed or you sign out.</p>
			</form>
		</main>
	)
}
