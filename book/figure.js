// Shows the states of a figure: figures/NAME.js calls this with [SVG, words] for each, the last
// control's value changing fastest.
function figure(name, states) {
    for (const box of document.querySelectorAll(`figure[data-figure="${name}"]`)) {
        const controls = [...box.querySelectorAll(".at")];
        const moves = box.querySelector(".moves"), said = box.querySelector(".said");
        const pressed = button => button.getAttribute("aria-pressed") === "true";
        const show = () => {
            let at = 0;
            for (const control of controls) {
                if (control.type === "range") {
                    const words = control.dataset.words.split("|");
                    at = at * words.length + Number(control.value);
                    control.setAttribute("aria-valuetext", words[control.value]);
                    control.parentNode.querySelector(".value").textContent = words[control.value];
                } else {
                    at = at * 2 + pressed(control);
                }
            }
            [moves.innerHTML, said.textContent] = states[at];
        };
        for (const control of controls) {
            if (control.type === "range") {
                control.addEventListener("input", show);
            } else {
                control.addEventListener("click", () => {
                    control.setAttribute("aria-pressed", !pressed(control));
                    show();
                });
            }
        }
        for (const button of box.querySelectorAll("[data-moves]")) {
            button.addEventListener("click", () => {
                const range = document.getElementById(button.dataset.moves);
                range.value = Number(range.value) + Number(button.dataset.by);
                show();
            });
        }
        // A browser that comes back to the page may have kept the controls' values.
        show();
        for (const hidden of box.querySelectorAll("[hidden]")) hidden.hidden = false;
    }
}
