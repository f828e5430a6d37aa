import type { ComponentProps, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Picture } from '../picture'

type Props = ComponentProps<typeof Picture>

/** The picture, whose libraries come when it is first looked at. */
export function LazyPicture(p: Props) {
	const [view, setView] = useState<{ of: ComponentType<Props> } | null>(null)
	useEffect(() => {
		void import('../picture').then(m => setView({ of: m.Picture }))
	}, [])
	return view ? <view.of {...p} /> : <p class="soft">The picture is being loaded.</p>
}
