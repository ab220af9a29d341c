import { render } from 'preact'
import './styles/tokens.css'
import './styles/base.css'
import { App } from './app/app.tsx'
import { applyTheme } from './preferences/theme.ts'

applyTheme()
const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no #app')
render(<App />, root)
