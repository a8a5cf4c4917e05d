(function(){
var root=document.documentElement;root.className="js";
var table=document.getElementById("findings");if(!table)return;
var body=table.tBodies[0],rows=Array.prototype.slice.call(body.rows),input=document.getElementById("filter"),
shown=document.getElementById("shown");
function money(x){return "$"+x.toLocaleString("en-US",{minimumFractionDigits:2,maximumFractionDigits:2})}
function count(){var n=0,cents=0;rows.forEach(function(r){if(!r.hidden){n++;cents+=Math.round(100*(+r.dataset.usd||0))}});
shown.textContent=n.toLocaleString("en-US")+" of "+rows.length.toLocaleString("en-US")+" shown, "+money(cents/100)+" a month"}
function filter(){var words=input.value.toLowerCase().split(/\s+/).filter(Boolean);
rows.forEach(function(r){if(!r.words)r.words=(r.textContent+" "+r.dataset.w).toLowerCase();
r.hidden=!words.every(function(w){return r.words.indexOf(w)>=0})});count()}
var wait;input.addEventListener("input",function(){clearTimeout(wait);wait=setTimeout(filter,60)});
Array.prototype.forEach.call(table.tHead.rows[0].cells,function(cell,index){var button=cell.querySelector("button");
button.addEventListener("click",function(){
var down=cell.getAttribute("aria-sort")==="ascending"||(!cell.hasAttribute("aria-sort")&&cell.dataset.k==="n");
Array.prototype.forEach.call(table.tHead.rows[0].cells,function(c){c.removeAttribute("aria-sort")});
cell.setAttribute("aria-sort",down?"descending":"ascending");
var numeric=cell.dataset.k==="n",sign=down?-1:1;
var keyed=rows.map(function(r,i){var c=r.cells[index];var v=c.dataset.v;if(v===undefined)v=(c.querySelector("b")||c).textContent;
return [numeric?(v===""?null:+v):v.toLowerCase(),i,r]});
keyed.sort(function(a,b){if(a[0]===null||b[0]===null)return (a[0]===null)-(b[0]===null)||a[1]-b[1];
return (a[0]<b[0]?-1:a[0]>b[0]?1:0)*sign||a[1]-b[1]});
var fragment=document.createDocumentFragment();keyed.forEach(function(k){fragment.appendChild(k[2])});
body.appendChild(fragment)})});
count()})();
