'use strict';

const form = document.getElementById('form');
const status = document.getElementById('status');
const list = document.getElementById('fillings');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  status.textContent = 'Filling …';
  list.replaceChildren();
  try {
    const answer = await fetch('v1/fill', {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({text: document.getElementById('text').value}),
    });
    const record = await answer.json();
    status.textContent = answer.ok ? `Seed ${record.seed}` : record.error;
    for (const filling of record.fillings || []) {
      const item = document.createElement('li');
      item.textContent = `${filling.score.toFixed(2)}  ${filling.text}`;
      list.append(item);
    }
  } catch (error) {
    status.textContent = `No answer: ${error.message}`;
  }
});
