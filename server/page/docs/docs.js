// The viewer is dark where the system is, and asks this server, also behind a proxy's prefix.
const viewer = document.querySelector('rapi-doc')
const here = new URL('.', location.href).href.replace(/\/$/, '')
viewer.setAttribute('server-url', here)
viewer.setAttribute('default-api-server', here)
viewer.setAttribute('theme', matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')

// On a telephone the buttons of a request go into the next line.
const narrow = new CSSStyleSheet()
narrow.replaceSync('@media (max-width: 34rem) { rapi-doc::part(wrap-request-btn) { flex-wrap: wrap; gap: .5rem } }')
document.adoptedStyleSheets.push(narrow)
